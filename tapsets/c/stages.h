/* Stages of packets and requests, in ns. */
#ifndef STAPGEN_STAGES_H
#define STAPGEN_STAGES_H

/* It was passed over, or is none of such a packet's. */
#define STAPGEN_NO_STAGE ((s64)-1)

/* So many of a record are gathered, then its total. */
enum { STAPGEN_RECORD_STAGES = 7, STAPGEN_TOTAL = STAPGEN_RECORD_STAGES, STAPGEN_RECORD_FIELDS };

#endif
