#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stapgen::cli {

/// Writes a page of the manual with the macros of man(7). Texts are plain: what means something to roff is escaped
/// here.
class Roff {
  public:
    /// `date` as YYYY-MM-DD.
    Roff(std::string_view name, std::string_view date, std::string_view version);

    void section(std::string_view title);
    void subsection(std::string_view title);

    /// The line below NAME, which whatis(1) reads.
    void title(std::string_view name, std::string_view what);

    /// Nothing is written of an empty one.
    void paragraph(std::string_view text);

    /// As typed, in bold.
    void command(std::string_view text);

    /// A term and, indented below it, what it is.
    void item(std::string_view term, std::string_view text);

    /// As they are, in a fixed width.
    void lines(const std::vector<std::string>& lines);
    void lines_of(std::string_view text);

    /// Pages of section 1, and then others with their sections.
    void references(const std::vector<std::string>& pages,
                    const std::vector<std::pair<std::string, std::string>>& others);

    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    void begin_paragraph();

    std::string text_;
    bool behind_heading_ = false;  ///< which is a paragraph's end itself
};

}  // namespace stapgen::cli
