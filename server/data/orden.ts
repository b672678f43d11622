/**
 * The condition, as SQL, that an event may be served (the one place that knows xid8). Rows become visible in the order in
 * which their transactions commit, not in the order of any number in them: a reader who goes by time or by a sequence skips
 * what commits late. So events are ordered by their writing transaction and served only below the oldest one still under way:
 * nothing can appear there any more. A long transaction anywhere in the server holds the feed back until it ends; it never
 * loses an event.
 *
 * Where merchants' rows lie in parts, numbers of transactions are each machine's own. There `flujo_hasta` and what an event's
 * row is numbered with put a count before them that goes up when the part comes to another machine (data/citus/laying.ts).
 */
export const HASTA_AQUI = 'xid < flujo_hasta()'
