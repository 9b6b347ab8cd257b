/* Sorts and percentiles on the GPU for programs in C and whatever calls C: library quadmill_kernel.
 *
 * The library works in your OpenGL context (OpenGL 3.3, OpenGL ES 3.0 or later), by render passes alone, and leaves its
 * state as it found it. It opens no files, starts no threads and throws no exceptions. Keys and results stay on the
 * GPU. No call waits for the GPU, except in OpenGL ES 3.0, where the library must find out the size of each texture.
 * Programs in C++ have more in quadmill/sort.hpp; do not link both libraries into one program.
 *
 * Before every call, the adopted context must be current on this thread. A failed call changes nothing of yours;
 * qm_message() says why it failed. A call with NULL for a context returns QM_INVALID.
 */
#ifndef QUADMILL_H
#define QUADMILL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QM_API __attribute__((visibility("default")))
#else
#define QM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qm_status {
    QM_OK = 0,
    QM_INVALID = 1,       /* an argument breaks a rule */
    QM_NO_CONTEXT = 2,    /* no context that the library can work with, or the adopted one is not current */
    QM_GL_ERROR = 3,      /* the driver refused or failed */
    QM_OUT_OF_MEMORY = 4, /* of the CPU */
    QM_FAILED = 5         /* anything else */
} qm_status;

typedef enum qm_order {
    QM_ASCENDING = 0, /* NaNs last */
    QM_DESCENDING = 1 /* the opposite, NaNs last too */
} qm_order;

typedef enum qm_type { QM_F32 = 1, QM_F64 = 2, QM_I32 = 3, QM_U32 = 4, QM_I64 = 5, QM_U64 = 6, QM_F16 = 7 } qm_type;

typedef enum qm_call {
    QM_ARGSORT_TEXTURE = 1,
    QM_SORT_TEXTURE = 2,
    QM_PERCENTILES_TEXTURE = 3,
    QM_ARGSORT_BUFFER = 4,
    QM_SORT_BUFFER = 5
} qm_call;

typedef struct qm_context qm_context;

/* All keys that fit. */
#define QM_ALL SIZE_MAX

/* Keys in one channel of a texture: of level 0, a rectangle of one layer or face. Begin with QM_KEYS_IN_TEXTURE. */
typedef struct qm_texture {
    size_t size;           /* sizeof(qm_texture): a later version may have more members */
    uint32_t texture;      /* its name in OpenGL */
    int32_t layer;         /* of an array; of a cube map, the face */
    int32_t x, y;          /* the first texel */
    int32_t width, height; /* 0: up to the edge */
    int32_t channel;       /* 0 to 3 */
    size_t count;          /* number of texels of the rectangle, row after row, or QM_ALL */
    uint32_t count_buffer; /* for qm_argsort_texture(), as in qm_buffer */
    size_t count_offset;
} qm_texture;
#define QM_KEYS_IN_TEXTURE(name) {sizeof(qm_texture), (name), 0, 0, 0, 0, 0, 0, QM_ALL, 0, 0}

/* Keys in a buffer. Begin with QM_KEYS_IN_BUFFER. */
typedef struct qm_buffer {
    size_t size;     /* sizeof(qm_buffer) */
    uint32_t buffer; /* its name in OpenGL */
    qm_type type;    /* of the keys */
    size_t offset;   /* of the first key, in bytes: a multiple of 4 (of 2 for QM_F16) */
    size_t stride;   /* from one key to the next, in bytes, likewise; 0: they follow each other */
    size_t count;    /* number of keys, or their max number if it is in a buffer */
    /* If only the GPU knows the number of keys: a buffer with it, as a 32-bit unsigned integer, such as an indirect
     * draw's; otherwise 0. Keys beyond the number are not changed, and their indices follow those of the others. */
    uint32_t count_buffer;
    size_t count_offset; /* in bytes, a multiple of 4 */
} qm_buffer;
#define QM_KEYS_IN_BUFFER(name, type, count) {sizeof(qm_buffer), (name), (type), 0, 0, (count), 0, 0}

/* Loads a function of OpenGL by its name. Yours has one line: return glfwGetProcAddress(name); */
typedef void (*qm_function)(void);
typedef qm_function (*qm_load)(void* user, const char* name);

/* Takes the context that is current on this thread. `user` goes to `load`, which is only called within qm_adopt(). */
QM_API qm_status qm_adopt(qm_load load, void* user, qm_context** context);
/* Frees the qm_context and what the library has in the OpenGL context. NULL is allowed. */
QM_API void qm_free(qm_context* context);

/* Why this thread's last call failed; "" before the first failure. Valid until its next call that fails. */
QM_API const char* qm_message(void);

/* The order of keys: texel i of `index`, a 2-D texture of R32UI, receives the number of the i-th key in order,
 * counted from 0 within the rectangle. Equal keys keep their order. Draw with it directly: sprites from back to
 * front.
 * Keys: R32F, R32I, R32UI, RGBA32F, RGBA16F, R16F, R16, R8, RGBA8 or depths. In 2-D textures also RG8, RG16, RG16F,
 * RG32F, RGB8, RGB16F, RGB32F, R11F_G11F_B10F, RGB10_A2, RGBA16, SRGB8, SRGB8_ALPHA8, and integers of 8, 16 and 32
 * bits with one, two or four channels. */
QM_API qm_status qm_argsort_texture(qm_context* context, const qm_texture* keys, uint32_t index, qm_order order);

/* Sorts the texels of a rectangle into another of the same shape and format, or in place, each channel by itself.
 * Format: R32F, R32I, R32UI, RGBA32F or RGBA16F. `channel` is not used. */
QM_API qm_status qm_sort_texture(qm_context* context, const qm_texture* from, const qm_texture* to, qm_order order);

/* Exact percentiles: texel i of row 0 of `output` receives the key of index round(phi[i] (n - 1)), from 0, of the n
 * sorted keys that are not NaN. It receives NaN if all keys are NaN. `output`: another texture than the keys, R32I for
 * signed integers, R32UI for unsigned ones, otherwise R32F; 2-D, at least `count` texels wide. phi: 1 to 1024
 * fractions from 0 to 1. Keys as for qm_argsort_texture(), at least one. */
QM_API qm_status qm_percentiles_texture(qm_context* context, const qm_texture* keys, const double* phi, size_t count,
                                        uint32_t output);

/* The order of keys in a buffer: from byte `index_offset` on, the buffer `index` receives 32-bit numbers as
 * glDrawElements takes them for GL_UNSIGNED_INT. The keys are not changed. */
QM_API qm_status qm_argsort_buffer(qm_context* context, const qm_buffer* keys, uint32_t index, size_t index_offset,
                                   qm_order order);

/* qm_argsort_texture() and qm_argsort_buffer() by depth. Positions take the place of keys: the first three channels of
 * a texture of floats, or three floats in a buffer of QM_F32 (stride 0: 12 bytes). The GPU computes the key of a
 * position: plane[0] x + plane[1] y + plane[2] z + plane[3]. All four are finite. For depths in front of a
 * camera, the plane is {-m[2], -m[6], -m[10], -m[14]}, where m is the view matrix (16 floats, column after column).
 * QM_DESCENDING is from back to front. */
QM_API qm_status qm_argsort_texture_by_plane(qm_context* context, const qm_texture* positions, const float* plane,
                                             uint32_t index, qm_order order);
QM_API qm_status qm_argsort_buffer_by_plane(qm_context* context, const qm_buffer* positions, const float* plane,
                                            uint32_t index, size_t index_offset, qm_order order);

/* Sorts keys in a buffer, in place. The bytes between keys are not changed. */
QM_API qm_status qm_sort_buffer(qm_context* context, const qm_buffer* keys, qm_order order);

/* Compiles at most `programs` of the shader programs that such a call on `count` keys needs, and allocates its memory.
 * *ready becomes 1 when nothing is left to do. Call it repeatedly to draw a loading screen in between. For textures,
 * `type` is QM_F32, QM_I32 or QM_U32. Left out are calls by plane, calls with a count_buffer, and keys in textures of
 * another format than R32F, R32I and R32UI: each of these links one more program when it is first used. */
QM_API qm_status qm_prepare(qm_context* context, qm_call call, qm_type type, size_t count, size_t programs, int* ready);

/* The compiled programs in the driver's own form, for qm_load_programs() in a later run. *size receives their bytes;
 * they are copied to `bytes` if `capacity` is enough (QM_INVALID otherwise, unless `bytes` is NULL, to ask for the
 * size). 0 bytes if the driver has no such form. */
QM_API qm_status qm_save_programs(qm_context* context, void* bytes, size_t capacity, size_t* size);
/* *loaded receives the number of programs; 0 if another driver or version saved them. */
QM_API qm_status qm_load_programs(qm_context* context, const void* bytes, size_t size, size_t* loaded);

#ifdef __cplusplus
}
#endif
#endif
