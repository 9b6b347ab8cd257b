// The functions of OpenGL ES 3.0 that web/package/gl.js gives to the module, in terms of WebGL2. Included after a
// header of glad.
#pragma once

// clang-format off
// Functions that code for all versions calls.
#define QUADMILL_WEB_COMMON(X)                                                                                        \
    X(ActiveTexture) X(AttachShader) X(BindAttribLocation) X(BindFramebuffer) X(BindSampler) X(BindTexture)           \
    X(BindVertexArray) X(ClientWaitSync) X(ColorMask) X(CompileShader) X(CreateProgram) X(CreateShader)               \
    X(DeleteBuffers) X(DeleteFramebuffers) X(DeleteProgram) X(DeleteQueries) X(DeleteShader) X(DeleteSync)            \
    X(DeleteTextures) X(DeleteVertexArrays) X(DepthFunc) X(DepthMask) X(DetachShader) X(Disable) X(DrawArrays)        \
    X(Enable) X(FenceSync) X(Finish) X(Flush) X(GetError) X(GetIntegerv) X(GetProgramInfoLog) X(GetProgramiv)         \
    X(GetQueryObjectuiv) X(GetShaderInfoLog) X(GetShaderiv) X(GetString) X(GetStringi) X(GetUniformLocation)          \
    X(IsEnabled) X(IsTexture) X(LinkProgram) X(ShaderSource) X(Uniform1f) X(Uniform1i) X(Uniform1ui) X(Uniform2f)     \
    X(Uniform2i) X(Uniform2ui) X(Uniform4f) X(Uniform4i) X(Uniform4ui) X(UseProgram)

// Functions that the dialect of OpenGL ES calls.
#define QUADMILL_WEB_ES(X)                                                                                            \
    X(ActiveTexture) X(BeginQuery) X(BindBuffer) X(BindFramebuffer) X(BindSampler) X(BindTexture) X(BindVertexArray)  \
    X(BlendEquation) X(BlendFunc) X(BlitFramebuffer) X(BufferData) X(CheckFramebufferStatus) X(ClearBufferfv)         \
    X(ClearBufferiv) X(ClearBufferuiv) X(ColorMask) X(DeleteBuffers) X(DeleteFramebuffers) X(DepthMask) X(Disable)    \
    X(DrawArraysInstanced) X(DrawBuffers) X(Enable) X(EnableVertexAttribArray) X(EndQuery) X(FramebufferTexture2D)    \
    X(FramebufferTextureLayer) X(GenBuffers) X(GenFramebuffers) X(GenQueries) X(GenTextures) X(GenVertexArrays)       \
    X(GetIntegerv) X(GetQueryObjectuiv) X(GetStringi) X(GetTexParameteriv) X(MapBufferRange) X(ReadBuffer)            \
    X(ReadPixels) X(Scissor) X(TexParameteri) X(TexStorage2D) X(TexStorage3D) X(TexSubImage2D) X(TexSubImage3D)       \
    X(UnmapBuffer) X(VertexAttribDivisor) X(VertexAttribPointer) X(Viewport)

// Declares web_NAME, which the page defines. Table is glad's type of a table of functions.
#define QUADMILL_WEB_IMPORT(Table, name)                                                                              \
    extern "C" __attribute__((import_module("gl"), import_name(#name)))                                               \
    std::remove_pointer_t<decltype(Table::name)> web_##name;
// clang-format on
