/* Sinew for C: opens characters, deforms their points into arrays, and bakes. */

#ifndef SINEW_H
#define SINEW_H

/* Made by cbindgen: SINEW_WRITE=1 cargo test -p sinew-c */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Space of points: that of the prim, as in Pixar's bake.
#define SINEW_SPACE_PRIM 0

// Space of points: that of the skeleton.
#define SINEW_SPACE_SKEL 1

// Space of points: the world.
#define SINEW_SPACE_WORLD 2

// Skinning by linear blending.
#define SINEW_LINEAR 0

// Skinning by dual quaternions.
#define SINEW_DUAL_QUATERNION 1

// An open character. Several threads may use it at once.
typedef struct SinewScene SinewScene;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0". Never free it.
const char *sinew_version(void);

// What the last function that failed on this thread says, in UTF-8. It is valid until the next one
// fails there. Never free it.
const char *sinew_last_error(void);

// Opens a file of any format: USD, glTF, VRM, BVH or FBX. NULL if it cannot be read.
//
// # Safety
// `file` is text in UTF-8 that ends with a zero.
SinewScene *sinew_open(const char *file);

// Closes a scene; NULL is allowed.
//
// # Safety
// `scene` came from sinew_open, is not closed yet, and nobody uses it any more.
void sinew_close(SinewScene *scene);

// Number of skinned prims; 0 for NULL.
//
// # Safety
// `scene` is open.
size_t sinew_prim_count(const SinewScene *scene);

// The path of a prim; NULL if there is no such prim. It is valid until the scene is closed.
//
// # Safety
// `scene` is open.
const char *sinew_prim_path(const SinewScene *scene, size_t prim);

// The number of the prim with this path; -1 if there is none.
//
// # Safety
// `scene` is open; `path` is text that ends with a zero.
ptrdiff_t sinew_find_prim(const SinewScene *scene, const char *path);

// Writes startTimeCode and endTimeCode. Returns false, and writes nothing, if the stage lacks one.
//
// # Safety
// `scene` is open; `first` and `last` can be written to.
bool sinew_time_range(const SinewScene *scene, double *first, double *last);

// Number of points of a prim at a time; -1 after an error.
//
// # Safety
// `scene` is open.
ptrdiff_t sinew_point_count(const SinewScene *scene, size_t prim, double time);

// Deforms a prim at times: blend shapes, then skinning, on all cores. The bits are those of
// `sinew bake --backend cpu --rigid points`.
//
// `out` gets 3 floats for each point, one time after the other; `out_count` is the number of floats:
// 3 * points * times. `space` is SINEW_SPACE_PRIM, SINEW_SPACE_SKEL or SINEW_SPACE_WORLD. Returns
// false after an error; `out` is then not specified.
//
// # Safety
// `scene` is open; the arrays have so many elements.
bool sinew_points(const SinewScene *scene,
                  size_t prim,
                  const double *times,
                  size_t time_count,
                  int32_t space,
                  float *out,
                  size_t out_count);

// Skins plain arrays, as UsdSkelSkinPoints does: from prim space to skeleton space.
//
// - `method`: SINEW_LINEAR or SINEW_DUAL_QUATERNION.
// - `points`, `out`: 3 floats for each of `point_count` points. They are different memory.
// - `joint_indices`, `joint_weights`: `influences` for each point.
// - `palette`: 16 doubles for each of `joint_count` joints, in rows: the skinning transform of row
//   vectors, as in USD, whose translation is in the last row.
// - `geom_bind`: 16 doubles, or NULL for the identity.
//
// Returns false after an error, such as a joint index that the palette lacks; `out` is then not
// specified.
//
// # Safety
// The arrays have so many elements, and `out` is not shared.
bool sinew_skin_points(int32_t method,
                       const float *points,
                       size_t point_count,
                       const int32_t *joint_indices,
                       const float *joint_weights,
                       size_t influences,
                       const double *palette,
                       size_t joint_count,
                       const double *geom_bind,
                       float *out);

// Bakes a file, as the command `sinew bake INPUT -o OUTPUT OPTIONS`. Nothing is printed.
//
// `options` are `option_count` words, such as "--frames", "1:48"; NULL if there are none. If
// `report` is not NULL, it gets what the command prints with --json, or NULL after an error; free it
// by sinew_free_text. Returns the exit code of the command (0: all is baked, 3: some prims failed),
// or -1 after an error, such as arguments that are wrong: then nothing is written.
//
// # Safety
// All texts are in UTF-8 and end with a zero; `options` has so many; `report` can be written to.
int32_t sinew_bake(const char *input,
                   const char *output,
                   const char *const *options,
                   size_t option_count,
                   char **report);

// Frees a text that a function gave by a pointer to it; NULL is allowed.
//
// # Safety
// `text` came from this library and is not freed yet.
void sinew_free_text(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SINEW_H */
