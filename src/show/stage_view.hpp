// A step of a sort as a picture. Deterministic: the same step, view and size give the same bytes.
#pragma once

#include <cstddef>
#include <string>

#include "show/canvas.hpp"
#include "show/png.hpp"
#include "show/stages.hpp"

namespace quadmill::detail::show {

// Measured times vary from run to run, so pictures that must be reproducible hide them.
enum class Times { Hidden, Shown };

struct View {
    std::size_t step = 0;
    Times times = Times::Hidden;
};

// Pre: view.step < stages.steps.size(); the size is at least 640 x 480.
[[nodiscard]] Canvas draw_step(const Stages& stages, const View& view, Size size);

// The box of the time line in draw_step(); and the step at x in it.
[[nodiscard]] Box time_line(Size size);
[[nodiscard]] std::size_t step_at(const Stages& stages, Size size, int x);

// "stage 3 of 10, step 4 of 10".
[[nodiscard]] std::string title_of(const Stages& stages, std::size_t step);
// "64 x 64", and the number of layers if there are several.
[[nodiscard]] std::string size_words(const Stages& stages);
// "in order", or the number of keys that are not.
[[nodiscard]] std::string order_words(const Step& step);
// Describes that step in a sentence.
[[nodiscard]] std::string explain(const Stages& stages, std::size_t step);

// Parts of pictures for other pages: whether a texture is so wide that its channels are drawn one below the other, not
// two by two; the box of one of the four, with gaps; its texels; and the elements of all arrays by index.
[[nodiscard]] bool is_wide(const Stages& stages);
[[nodiscard]] Box channel_box(const Box& all, const Stages& stages, int channel, int gap_across, int gap_down);
void draw_texels(Canvas& canvas, const Box& box, const Stages& stages, const Step& step, int channel);
void draw_elements(Canvas& canvas, const Box& box, const Stages& stages, const Step& step);

}  // namespace quadmill::detail::show
