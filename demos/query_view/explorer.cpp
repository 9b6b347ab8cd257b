#include "explorer.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "quadmill/error.hpp"

namespace demo {

using quadmill::ColumnType;
using quadmill::Predicate;
using quadmill::QueryEngine;
using quadmill::Table;
using quadmill::Value;

Table make_houses(std::size_t rows, std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto part = [&] { return static_cast<double>(random()) / 4294967296.0; };  // the same with every library
    const auto about_zero = [&] { return part() + part() + part() - 1.5; };
    std::vector<std::int32_t> area(rows), price(rows), year(rows);
    std::vector<float> distance(rows);
    std::vector<double> from_centre(rows);
    for (auto& far : from_centre) far = 30 * part() * part();
    std::ranges::sort(from_centre);
    for (std::size_t i = 0; i < rows; ++i) {
        const double far = from_centre[i], size = 40 + 8 * far + 60 * (about_zero() + 1.5) * part();
        const double built = 2025 - 125 * part() * part() - (far < 4 ? 40 * part() : 0);
        const double worth = size * (9.5 - 0.22 * far + 0.02 * (built - 1960)) * (1 + 0.25 * about_zero());
        area[i] = static_cast<std::int32_t>(size);
        price[i] = static_cast<std::int32_t>(worth * 1000 / 2);
        year[i] = static_cast<std::int32_t>(built);
        distance[i] = static_cast<float>(far);
    }
    Table table;
    table.add("area", std::move(area)).add("price", std::move(price)).add("year", std::move(year));
    return table.add("distance", std::move(distance));
}

std::vector<std::string> number_columns(const Table& table) {
    std::vector<std::string> names;
    for (const auto& column : table.columns()) {
        if (column.type != ColumnType::Text) names.push_back(column.name);
    }
    return names;
}

namespace {

bool is_float(const Table& table, const std::string& name) {
    const auto found = std::ranges::find(table.columns(), name, &quadmill::ColumnInfo::name);
    return found->type == ColumnType::F32 || found->type == ColumnType::F64;
}

// A value as people would write it, rounded to about a thousandth of the range.
double rounded(const Table& table, const std::string& column, double value) {
    const auto range = show::range_of(table, column);
    const double step = std::pow(10, std::floor(std::log10(std::max(range.high - range.low, 1e-300))) - 2);
    const double whole = is_float(table, column) ? step : std::max(step, 1.0);
    return std::round(value / whole) * whole;
}

Value constant(const Table& table, const std::string& column, double value) {
    if (is_float(table, column)) return value;
    return static_cast<std::int64_t>(std::llround(value));
}

Predicate between(const Table& table, const std::string& column, double low, double high) {
    return quadmill::column(column).between(constant(table, column, low), constant(table, column, high));
}

Explorer::Axes named(const Table& table, Explorer::Axes axes) {
    const auto names = number_columns(table);
    if (names.empty()) throw quadmill::InvalidArgument("the table has no column of numbers");
    if (axes.x.empty()) axes.x = names.front();
    if (axes.y.empty()) axes.y = names[names.size() > 1 ? 1 : 0];
    static_cast<void>(show::range_of(table, axes.x));
    static_cast<void>(show::range_of(table, axes.y));
    return axes;
}

}  // namespace

Explorer::Explorer(quadmill::Context context, Table table, const Axes& axes, QueryEngine engine)
    : watcher_(std::move(context), std::move(table)) {
    query_.engine = engine;
    set_axes(axes);
    go_to(0);
}

// Finds the first columns that are not on an axis.
void Explorer::find_thresholds() {
    constexpr std::size_t max = 2;
    thresholds_.clear();
    for (const auto& name : number_columns(table())) {
        if (name == axes_.x || name == axes_.y || thresholds_.size() == max) continue;
        const auto range = show::range_of(table(), name);
        if (thresholds_.empty()) {
            const double some = rounded(table(), name, range.low + 0.3 * (range.high - range.low));
            thresholds_.push_back({name, Threshold::Keeps::AtLeast, range, some});
        } else {
            thresholds_.push_back({name, Threshold::Keeps::AtMost, range, range.high});
        }
    }
}

void Explorer::set_threshold(std::size_t i, double value) {
    auto& [column, keeps, range, kept] = thresholds_.at(i);
    const bool inside = value > range.low && value < range.high;
    kept = inside ? rounded(table(), column, value) : std::clamp(value, range.low, range.high);
    ask(engine());
}

void Explorer::set_axes(const Axes& axes) {
    axes_ = named(table(), axes);
    find_thresholds();
    sweep_rectangle(0.2, 0.15, 0.4);
}

void Explorer::set_engine(QueryEngine engine) {
    ask(engine);
}

void Explorer::set_rectangle(const std::optional<show::Rectangle>& rectangle) {
    rectangle_ = rectangle;
    if (rectangle_) {
        for (auto* x : {&rectangle_->x0, &rectangle_->x1}) *x = rounded(table(), axes_.x, *x);
        for (auto* y : {&rectangle_->y0, &rectangle_->y1}) *y = rounded(table(), axes_.y, *y);
    }
    ask(engine());
}

void Explorer::sweep_rectangle(double x, double y, double side) {
    const auto wide = show::range_of(table(), axes_.x), high = show::range_of(table(), axes_.y);
    const auto at = [](const show::ValueRange& range, double part) {
        return range.low + part * (range.high - range.low);
    };
    set_rectangle(show::Rectangle{at(wide, x), at(high, y), at(wide, x + side), at(high, y + side)});
}

Predicate Explorer::condition() const {
    std::vector<Predicate> all;
    if (rectangle_) {
        all.push_back(between(table(), axes_.x, rectangle_->x0, rectangle_->x1));
        all.push_back(between(table(), axes_.y, rectangle_->y0, rectangle_->y1));
    }
    for (const auto& [name, keeps, range, value] : thresholds_) {
        const auto column = quadmill::column(name);
        const auto bound = constant(table(), name, value);
        if (keeps == Threshold::Keeps::AtLeast && value > range.low) all.push_back(column >= bound);
        if (keeps == Threshold::Keeps::AtMost && value < range.high) all.push_back(column <= bound);
    }
    if (all.empty()) return Predicate::always(true);
    auto condition = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) condition = condition && all[i];
    return condition;
}

// If the last pass was shown, the last pass stays shown.
void Explorer::ask(QueryEngine engine) {
    const bool last = at_end();
    query_ = watcher_.watch(condition(), engine);
    set_places(query_.steps.size());
    if (last && !playing()) go_to(static_cast<std::ptrdiff_t>(places()));
}

std::string Explorer::title() const {
    return show::title_of(query_, at()) + ", COUNT " + std::to_string(query_.count);
}

}  // namespace demo
