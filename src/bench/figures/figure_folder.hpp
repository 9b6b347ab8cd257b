// Results of `quadmill bench figures`: a folder with a CSV and an SVG per figure, and pages of verdicts made from the
// CSVs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/figures/figure.hpp"

namespace quadmill::detail::bench {

using FigureFacts = std::vector<std::pair<std::string, std::string>>;

// The results of one machine. The CSV is written last, under a temporary name, and renamed: if it exists, the figure is
// complete.
class FigureFolder {
  public:
    // Reads the folder. Throws Error for a bad CSV, IoError.
    explicit FigureFolder(std::string path);
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const FigureData* find(const std::string& id) const;
    // Throws Error if the folder's results are from another machine, or of another size, than `facts` says.
    void must_be_of(const FigureFacts& facts) const;
    // Makes the folder if it is missing.
    void store(const Figure& figure, FigureData data);
    // Makes all SVGs again from the CSVs.
    void draw() const;
    // Writes summary.md and summary.json.
    void write_summary() const;
    [[nodiscard]] std::string summary_json() const;
    [[nodiscard]] std::size_t size() const { return data_.size(); }

  private:
    void draw(const Figure& figure, const FigureData& data) const;
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    std::string path_;
    std::map<std::string, FigureData> data_;  // by id
};

// A page with every claim of every figure: its text, its rule, and the result on each folder's machine. Links are
// relative to the folder of `from`. Throws IoError.
[[nodiscard]] std::string figures_page(const std::vector<FigureFolder>& folders, const std::string& from);
void write_text(const std::string& path, const std::string& text);

}  // namespace quadmill::detail::bench
