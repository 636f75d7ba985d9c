#pragma once

#include <string>
#include <utility>

namespace stapgen::decode {

/// What a note is about.
enum class NoteKind {
    meaning,  ///< what the numbers mean: inputs that differ in it are not compared
    clock,    ///< when things happened
    count,    ///< how much of something this input had
};

/// What a reader of the numbers must know of an input, for a person: "requests above 100 us are cut off".
struct Note {
    Note(std::string note, NoteKind of = NoteKind::meaning) : kind(of), text(std::move(note)) {}

    NoteKind kind;
    std::string text;

    bool operator==(const Note&) const = default;
};

}  // namespace stapgen::decode
