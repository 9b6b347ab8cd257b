// Draws the letters that pictures need, once, when the project is built: bake_font REGULAR.ttf BOLD.ttf OUT.inc. So
// pictures have smooth text without a font at run time, and the same bytes on every machine with the same font.
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include <stb_truetype.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

constexpr std::array sizes{10, 11, 12, 13, 15, 17, 20, 24};  // approximate height in pixels

std::vector<int> letters() {
    std::vector<int> all;
    for (int code = 32; code < 127; ++code) all.push_back(code);
    for (const int code : {0xb2, 0xb7, 0xd7, 0x2026, 0x2190, 0x2192, 0x2212, 0x2264}) all.push_back(code);
    return all;
}

struct Out {
    std::vector<unsigned char> coverage;
    std::vector<std::array<int, 8>> glyphs;  // face, code, x, y, width, height, advance, offset of the coverage
    std::vector<std::array<int, 3>> faces;   // size, bold, line
};

void bake(const std::vector<unsigned char>& file, int size, bool bold, Out& out) {
    stbtt_fontinfo font{};
    if (file.empty() || !stbtt_InitFont(&font, file.data(), 0)) return;
    const float scale = stbtt_ScaleForMappingEmToPixels(&font, static_cast<float>(size));
    int ascent = 0, descent = 0, gap = 0;
    stbtt_GetFontVMetrics(&font, &ascent, &descent, &gap);
    const auto pixels = [&](int units) { return static_cast<int>(std::lround(static_cast<float>(units) * scale)); };
    const int face = static_cast<int>(out.faces.size());
    out.faces.push_back({size, bold ? 1 : 0, pixels(ascent - descent + gap)});
    for (const int code : letters()) {
        int width = 0, height = 0, x = 0, y = 0, advance = 0, bearing = 0;
        stbtt_GetCodepointHMetrics(&font, code, &advance, &bearing);
        auto* bitmap = stbtt_GetCodepointBitmap(&font, 0, scale, code, &width, &height, &x, &y);
        out.glyphs.push_back(
            {face, code, x, pixels(ascent) + y, width, height, pixels(advance), static_cast<int>(out.coverage.size())});
        out.coverage.insert(out.coverage.end(), bitmap, bitmap + width * height);
        stbtt_FreeBitmap(bitmap, nullptr);
    }
}

std::vector<unsigned char> read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Row>
void write_rows(std::ofstream& file, const char* declaration, const std::vector<Row>& rows) {
    file << declaration << " = {\n";
    for (const auto& row : rows) {
        file << "{";
        for (const int value : row) file << value << ",";
        file << "},\n";
    }
    file << "};\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    Out out;
    const auto regular = read(argv[1]), bold = read(argv[2]);
    for (const int size : sizes) {
        bake(regular, size, false, out);
        bake(bold, size, true, out);
    }
    if (out.faces.size() != 2 * sizes.size()) {
        std::fprintf(stderr, "bake_font: %s and %s are not fonts\n", argv[1], argv[2]);
        return 1;
    }
    std::ofstream file(argv[3]);
    write_rows(file, "constexpr Face faces[]", out.faces);
    write_rows(file, "constexpr Glyph glyphs[]", out.glyphs);
    file << "constexpr unsigned char coverage[] = {";
    for (std::size_t i = 0; i < out.coverage.size(); ++i)
        file << static_cast<int>(out.coverage[i]) << (i % 64 == 63 ? ",\n" : ",");
    file << "};\n";
    return file.good() ? 0 : 1;
}
