// SPDX-License-Identifier: GPL-2.0-or-later
// As stapgen.h: the search for memory. Arguments are left out, as none is used and their order differs.
#ifdef TRACE_mm_vmscan_direct_reclaim_begin
DECLARE_TRACE(mm_vmscan_direct_reclaim_begin, PARAMS(int order), )
#endif
#ifdef TRACE_mm_vmscan_direct_reclaim_end
DECLARE_TRACE(mm_vmscan_direct_reclaim_end, PARAMS(unsigned long reclaimed), )
#endif
#ifdef TRACE_mm_vmscan_memcg_reclaim_begin
DECLARE_TRACE(mm_vmscan_memcg_reclaim_begin, PARAMS(int order), )
#endif
#ifdef TRACE_mm_vmscan_memcg_reclaim_end
DECLARE_TRACE(mm_vmscan_memcg_reclaim_end, PARAMS(unsigned long reclaimed), )
#endif
#ifdef TRACE_mm_compaction_begin
DECLARE_TRACE(mm_compaction_begin, PARAMS(int order), )
#endif
#ifdef TRACE_mm_compaction_end
DECLARE_TRACE(mm_compaction_end, PARAMS(int status), )
#endif
