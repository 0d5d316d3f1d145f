// Times ozz-animation's SkinningJob, unchanged, on the jobs of a file, in one thread. benches/suite/ozz_original.rs writes
// the file, runs this and reads the results.
//
//   skinning_time JOBS RESULTS points|normals|inverse-transposes MOST FEWEST SECONDS
//
// `normals` transforms them by the joints' matrices, `inverse-transposes` by those. A run is all jobs of the file. It runs
// for 0.3 s to warm up, then until MOST runs and 0.2 s, or FEWEST runs and SECONDS, whichever comes first: as the suite's own
// rows do. The seconds of each run go to stdout, and the positions (and normals) of each job to RESULTS.
//
// JOBS, little-endian: u32 joints, their matrices and then their inverse transposes (16 f32 each, by columns); u32 jobs; and
// for each: u32 vertices, u32 influences, f32 positions, f32 normals, f32 weights (one less a vertex than influences), u16
// joint indices, padded to 4 bytes.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ozz/base/maths/simd_math.h"
#include "ozz/geometry/runtime/skinning_job.h"

namespace {

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "skinning_time: %s\n", reason.c_str());
  std::exit(1);
}

class Reader {
 public:
  explicit Reader(const char* file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) fail(std::string(file) + ": cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  std::uint32_t number() {
    std::uint32_t out;
    std::memcpy(&out, take(4), 4);
    return out;
  }

  template <typename T>
  std::vector<T> array(std::size_t count) {
    std::vector<T> out(count);
    const std::size_t bytes = count * sizeof(T);
    if (bytes) std::memcpy(out.data(), take(bytes), bytes);
    take((4 - bytes % 4) % 4);
    return out;
  }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size() - at_) fail("the file of jobs ends early");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

std::vector<ozz::math::Float4x4> matrices(Reader* reader, std::size_t count) {
  const std::vector<float> floats = reader->array<float>(count * 16);
  std::vector<ozz::math::Float4x4> out(count);
  for (std::size_t i = 0; i < count * 4; ++i)
    out[i / 4].cols[i % 4] = ozz::math::simd_float4::LoadPtrU(&floats[i * 4]);
  return out;
}

struct Mesh {
  std::uint32_t vertices, influences;
  std::vector<float> positions, normals, weights, out_positions, out_normals;
  std::vector<std::uint16_t> indices;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) fail("expected six arguments");
  const std::string what = argv[3];
  const bool with_normals = what != "points";
  const bool with_inverses = what == "inverse-transposes";
  if (!with_inverses && what != "points" && what != "normals") fail(what + ": no such case");
  const double most = std::atof(argv[4]), fewest = std::atof(argv[5]), long_enough = std::atof(argv[6]);

  Reader reader(argv[1]);
  const std::size_t joint_count = reader.number();
  const auto joints = matrices(&reader, joint_count);
  const auto inverses = matrices(&reader, joint_count);
  std::vector<Mesh> meshes(reader.number());
  for (Mesh& mesh : meshes) {
    mesh.vertices = reader.number();
    mesh.influences = reader.number();
    mesh.positions = reader.array<float>(std::size_t{3} * mesh.vertices);
    mesh.normals = reader.array<float>(std::size_t{3} * mesh.vertices);
    mesh.weights = reader.array<float>(std::size_t{mesh.vertices} * (mesh.influences - 1));
    mesh.indices = reader.array<std::uint16_t>(std::size_t{mesh.vertices} * mesh.influences);
    mesh.out_positions.resize(mesh.positions.size());
    if (with_normals) mesh.out_normals.resize(mesh.normals.size());
  }

  std::vector<ozz::geometry::SkinningJob> jobs;
  for (Mesh& mesh : meshes) {
    ozz::geometry::SkinningJob job;
    job.vertex_count = static_cast<int>(mesh.vertices);
    job.influences_count = static_cast<int>(mesh.influences);
    job.joint_matrices = ozz::make_span(joints);
    job.joint_indices = ozz::make_span(mesh.indices);
    job.joint_indices_stride = sizeof(std::uint16_t) * mesh.influences;
    job.joint_weights = ozz::make_span(mesh.weights);
    job.joint_weights_stride = sizeof(float) * (mesh.influences - 1);
    job.in_positions = ozz::make_span(mesh.positions);
    job.in_positions_stride = sizeof(float) * 3;
    job.out_positions = ozz::make_span(mesh.out_positions);
    job.out_positions_stride = sizeof(float) * 3;
    if (with_normals) {
      job.in_normals = ozz::make_span(mesh.normals);
      job.in_normals_stride = sizeof(float) * 3;
      job.out_normals = ozz::make_span(mesh.out_normals);
      job.out_normals_stride = sizeof(float) * 3;
    }
    if (with_inverses) job.joint_inverse_transpose_matrices = ozz::make_span(inverses);
    if (!job.Validate()) fail("ozz finds a job invalid");
    jobs.push_back(job);
  }

  auto run = [&jobs] {
    const auto start = std::chrono::steady_clock::now();
    for (const auto& job : jobs) job.Run();
    return seconds_since(start);
  };
  const auto cold = std::chrono::steady_clock::now();
  run();
  while (seconds_since(cold) < 0.3) run();
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> seconds;
  for (;;) {
    const double spent = seconds_since(start), count = static_cast<double>(seconds.size());
    if ((count >= most && spent >= 0.2) || (count >= fewest && spent >= long_enough)) break;
    seconds.push_back(run());
  }

  std::ofstream out(argv[2], std::ios::binary);
  for (const Mesh& mesh : meshes)
    for (const auto* array : {&mesh.out_positions, &mesh.out_normals})
      out.write(reinterpret_cast<const char*>(array->data()), static_cast<std::streamsize>(array->size() * sizeof(float)));
  if (!out.flush()) fail(std::string(argv[2]) + ": cannot be written");
  for (double s : seconds) std::printf("%.9g\n", s);
}
