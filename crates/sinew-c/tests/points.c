/* Opens a character, deforms a prim, skins plain arrays and bakes: points IN PRIM OUT.
   Prints numbers that the test compares with those of the libraries. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinew.h"

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_last_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    printf("version %s\n", sinew_version());

    if (sinew_open("no/such.usda") != NULL) return 1;
    printf("error %s\n", sinew_last_error());

    SinewScene *scene = sinew_open(argv[1]);
    if (scene == NULL) return failed("sinew_open");
    ptrdiff_t found = sinew_find_prim(scene, argv[2]);
    if (found < 0) return failed("sinew_find_prim");
    size_t prim = (size_t)found;
    if (strcmp(sinew_prim_path(scene, prim), argv[2]) != 0) return 1;
    if (sinew_prim_path(scene, sinew_prim_count(scene)) != NULL) return 1;
    if (sinew_find_prim(scene, "/no/such") != -1) return 1;

    double first, last;
    if (!sinew_time_range(scene, &first, &last)) return failed("sinew_time_range");
    printf("times %g %g\n", first, last);

    double times[2] = {first, 0.5 * (first + last)};
    ptrdiff_t points = sinew_point_count(scene, prim, times[0]);
    if (points < 0) return failed("sinew_point_count");
    size_t count = 2 * 3 * (size_t)points;
    float *out = malloc(count * sizeof *out);
    if (out == NULL) return 1;
    if (sinew_points(scene, prim, times, 2, SINEW_SPACE_WORLD, out, count - 1)) return 1;
    printf("error %s\n", sinew_last_error());
    if (!sinew_points(scene, prim, times, 2, SINEW_SPACE_WORLD, out, count)) return failed("sinew_points");
    for (size_t i = 0; i < count; i++) printf("point %.9g\n", out[i]);
    free(out);
    sinew_close(scene);

    /* One point between two joints, one of which is 2 units up. */
    const float rest[3] = {1, 0, 0}, weights[2] = {0.5f, 0.5f};
    const int32_t joints[2] = {0, 1}, wrong[2] = {0, 2};
    const double palette[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1};
    float moved[3];
    if (sinew_skin_points(SINEW_LINEAR, rest, 1, wrong, weights, 2, palette, 2, NULL, moved)) return 1;
    printf("error %s\n", sinew_last_error());
    if (!sinew_skin_points(SINEW_LINEAR, rest, 1, joints, weights, 2, palette, 2, NULL, moved))
        return failed("sinew_skin_points");
    printf("moved %g %g %g\n", moved[0], moved[1], moved[2]);

    const char *options[4] = {"--frames", "1:3", "--backend", "cpu"};
    char *report = NULL;
    int code = sinew_bake(argv[1], argv[3], options, 4, &report);
    if (code != 0 || report == NULL) return failed("sinew_bake");
    printf("report of %zu bytes\n", strlen(report));
    sinew_free_text(report);
    if (sinew_bake(argv[1], argv[3], options, 1, NULL) != -1) return 1;
    printf("error %s\n", sinew_last_error());
    return 0;
}
