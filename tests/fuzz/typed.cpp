// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "filter/filter.h"
#include "fuzz.h"
#include "launch/masked_bytes.h"
#include "recording/writer.h"

using namespace stapgen;

/// Values that a user types, or a program that starts us.
FUZZ_TARGET(typed) {
    const auto text = fuzz::text_of(data, size);
    if (const auto duration = base::parse_duration(text)) {
        fuzz::always(duration->count() >= 0 && !base::format_duration(*duration).empty());
    }
    if (const auto bytes = base::parse_size(text)) {
        fuzz::always(base::to_unsigned(text).value_or(0) == 0 || *bytes == 0);
    }
    if (const auto rotation = recording::parse_rotation(text)) {
        fuzz::always(rotation->bytes >= 100'000 && rotation->files >= 0 && rotation->files <= 10'000);
    }
    if (const auto network = filter::parse_network(text)) {
        const auto again = filter::parse_network(network->text());
        fuzz::always(again && again->text() == network->text());
    }
    fuzz::always(launch::masked_name(text).bytes[15] == 0);

    const auto shown = base::printable(text);
    for (const char c : shown)
        fuzz::always(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    fuzz::always(base::upper(base::upper(text)) == base::upper(text));
    fuzz::always(base::split(text, '\n').size() >= 1);
    for (const auto word : base::words(text))
        fuzz::always(!word.empty());
    if (size < 200) base::did_you_mean(text, {"rx-latency", std::string(text.substr(size / 2))});
    return 0;
}
