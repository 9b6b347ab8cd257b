// A query that changes while somebody looks at it, and the current pass. No window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "show/query_page.hpp"
#include "window/playhead.hpp"

namespace demo {

// Invented houses: area, price, year, distance, from the centre outwards. The same for the same seed.
[[nodiscard]] quadmill::Table make_houses(std::size_t rows, std::uint32_t seed);

// The names of the numeric columns.
[[nodiscard]] std::vector<std::string> number_columns(const quadmill::Table& table);

class Explorer : public Playhead {
  public:
    struct Axes {
        std::string x{}, y{};  // empty: the first numeric columns
    };
    // Begins with a rectangle in the middle and one threshold. Throws InvalidArgument for unknown columns, and
    // everything that the QueryWatcher throws.
    Explorer(quadmill::Context context, quadmill::Table table, const Axes& axes, quadmill::QueryEngine engine);

    // A column that is not on an axis, and which side of the value passes. While the value is at that end, all rows
    // pass.
    struct Threshold {
        std::string column;
        enum class Keeps { AtLeast, AtMost } keeps = Keeps::AtLeast;
        show::ValueRange range;
        double value = 0;
    };

    [[nodiscard]] const std::vector<Threshold>& thresholds() const { return thresholds_; }
    void set_threshold(std::size_t i, double value);
    void set_axes(const Axes& axes);
    void set_engine(quadmill::QueryEngine engine);
    // Nothing: all rows.
    void set_rectangle(const std::optional<show::Rectangle>& rectangle);
    // A square: the same fraction of both axes, `side` wide, which begins at (x, y), from 0 to 1.
    void sweep_rectangle(double x, double y, double side);

    [[nodiscard]] quadmill::Predicate condition() const;
    [[nodiscard]] const show::WatchedQuery& query() const { return query_; }
    [[nodiscard]] show::QueryView view() const { return {at(), axes_.x, axes_.y, rectangle_}; }
    [[nodiscard]] quadmill::QueryEngine engine() const { return query_.engine; }
    [[nodiscard]] const quadmill::Table& table() const { return watcher_.table(); }
    [[nodiscard]] show::Canvas draw(show::Size size) const { return show::draw_query(query_, view(), size); }
    [[nodiscard]] std::string title() const;

  private:
    void find_thresholds();
    void ask(quadmill::QueryEngine engine);

    show::QueryWatcher watcher_;
    Axes axes_;
    std::vector<Threshold> thresholds_;
    std::optional<show::Rectangle> rectangle_;
    show::WatchedQuery query_;
};

}  // namespace demo
