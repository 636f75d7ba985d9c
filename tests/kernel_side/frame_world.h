// SPDX-License-Identifier: GPL-2.0-or-later
// Frames as packets of the kernel's, and what libpcap says of them.
#pragma once

#include <memory>
#include <random>
#include <stdexcept>

#include "bytes.h"
#include "oracle.h"
#include "world.h"

// world.h is before it: it has what the C is made of.
#include "c/connection_frame.h"

using Frame = std::vector<std::uint8_t>;

/// A packet whose first part ends after so many bytes of the frame; the others are in pages.
struct FramePacket {
    enum { head_room = 6 };
    std::unique_ptr<unsigned char[]> linear;
    Frame paged;
    sk_buff skb{};

    FramePacket(const Frame& frame, std::size_t in_linear, bool with_mac = true) {
        const auto first = std::max<std::size_t>(std::min(in_linear, frame.size()), ETH_HLEN);
        // Not a byte more, so that one that is read beyond is told.
        linear = std::make_unique<unsigned char[]>(head_room + first);
        std::copy_n(frame.begin(), std::min(first, frame.size()), linear.get() + head_room);
        if (first < frame.size()) paged.assign(frame.begin() + first, frame.end());
        skb.head = linear.get();
        skb.data = skb.head + head_room + ETH_HLEN;
        skb.mac_header = with_mac ? u16{head_room} : u16{0xffff};
        skb.network_header = head_room + ETH_HLEN;
        skb.data_len = static_cast<u32>(paged.size());
        skb.len = static_cast<u32>(first - ETH_HLEN) + skb.data_len;
        const u16 type = frame[12] << 8 | frame[13];
        skb.protocol = htons(type < ETH_P_802_3_MIN ? ETH_P_802_2 : type);
    }
};
inline const Frame* shim_pages = nullptr;
inline int skb_copy_bits(const sk_buff* skb, int offset, void* to, int length) {
    const int first = static_cast<int>(skb->len - skb->data_len);
    if (offset < first || offset + length > static_cast<int>(skb->len)) return -14;
    std::copy_n(shim_pages->begin() + (offset - first), length, static_cast<std::uint8_t*>(to));
    return 0;
}

/// Whether it passes, by the kernel side.
inline bool passes(const std::vector<std::uint64_t>& program, const FramePacket& packet) {
    std::fill(std::begin(stapgen_filter), std::end(stapgen_filter), 0);
    std::copy(program.begin(), program.end(), stapgen_filter);
    shim_pages = &packet.paged;
    const void* fault = nullptr;
    const bool passed = stapgen_passes_filter(&packet.skb, &fault) != 0;
    if (fault != nullptr) throw std::runtime_error("a fault without bad memory");
    return passed;
}

/// A program of any instructions and a frame, from bytes: both say the same.
struct ProgramWorld {
    static Instruction instruction(Bytes& bytes, unsigned left) {
        Instruction of;
        static constexpr std::uint16_t codes[] = {
            0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x00, 0x60, 0x80, 0x01, 0x61, 0x81, 0xb1, 0x02, 0x03, 0x04, 0x0c,
            0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3c, 0x44, 0x4c, 0x54, 0x5c, 0x64, 0x6c, 0x74, 0x7c, 0x84, 0x94, 0x9c,
            0xa4, 0xac, 0x05, 0x15, 0x1d, 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d, 0x06, 0x16, 0x07, 0x87};
        of.code = codes[bytes.next(std::size(codes))];
        of.k = bytes.next(16);
        const bool is_memory =
            (of.code & 7) == 2 || (of.code & 7) == 3 || (of.code & 0xe7) == 0x60 || (of.code & 0xe7) == 0x61;
        if (!is_memory && bytes.next(4) == 0)
            of.k = bytes.next(256) << 24 | bytes.next(256) << 16 | bytes.next(256) << 8 | bytes.next(256);
        // What libpcap takes: no division by 0, no shift out of the word, no jump behind the end.
        if ((of.code == 0x34 || of.code == 0x94) && of.k == 0) of.k = 1;
        if (of.code == 0x64 || of.code == 0x74) of.k %= 32;
        if (of.code == 0x05) of.k = bytes.next(left);
        if ((of.code & 7) == 5 && of.code != 0x05) {
            of.jump_true = static_cast<std::uint8_t>(bytes.next(left));
            of.jump_false = static_cast<std::uint8_t>(bytes.next(left));
            of.k %= 64;
        }
        return of;
    }
    static void run(Bytes bytes) {
        // libpcap's machine begins with what happens to be in its memory.
        std::vector<Instruction> program;
        for (unsigned i = 0; i < BPF_MEMWORDS; ++i)
            program.push_back({BPF_ST, 0, 0, i});
        for (unsigned left = bytes.next(32); left > 0; --left)
            program.push_back(instruction(bytes, left));
        program.push_back({0x16, 0, 0, 0});
        Frame frame(ETH_HLEN + bytes.next(64));
        for (auto& byte : frame)
            byte = static_cast<std::uint8_t>(bytes.next(256));
        const FramePacket packet(frame, bytes.next(96));
        if (passes(words_of(program), packet) != oracle_passes(program, frame))
            throw std::runtime_error("libpcap says otherwise");
    }
};
