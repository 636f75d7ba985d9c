#pragma once

#include <string>
#include <string_view>

namespace stapgen::decode {

/// The counter of a sentence of `netstat -s`, with '%' in the place of its number: "TcpExt.PruneCalled".
/// `group` is the heading above it, and empty where that is not known: then the first group that has the sentence.
/// Empty if there is none. The sentences are those of net-tools' statistics.c, 1.60 to 2.10.
std::string netstat_counter(std::string_view group, std::string_view sentence);

/// The same in a histogram of ICMP's, "destination unreachable": "DestUnreachs". `group` is Icmp or Icmp6.
std::string_view netstat_icmp_counter(std::string_view group, std::string_view sentence);

}  // namespace stapgen::decode
