/**
 * SQL condition that an event may be served; no other code knows about xid8. Rows become visible in the order in which
 * their transactions commit, not in the order of a number in the rows. A reader that follows a time or a sequence skips
 * rows that commit late.
 *
 * Events are therefore ordered by their writing transaction. Only events below the oldest transaction under way are
 * served: no event can appear there any more. A long transaction anywhere in the server holds the feed back until it
 * ends; it never loses an event.
 *
 * On Citus, merchants' rows lie in several databases (parts), and each machine has its own transaction numbers. There
 * `flujo_hasta` and the number in an event's row put a count, the part's era, before the transaction number. The era
 * increases when the part moves to another machine (data/citus/laying.ts).
 */
export const VISIBLE_TO_FEED = 'xid < flujo_hasta()'
