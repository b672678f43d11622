/**
 * Limits of the sending of webhooks, for one process. Each keeps a slow or busy receiver from taking what others need:
 * exchanges first, then places in memory, reads, results and time.
 */

/**
 * Maximum concurrent exchanges (a request and its response) that have not yet lasted longer than {@link SLOW_AFTER_MS}.
 */
export const MAX_FAST_EXCHANGES = 64

/**
 * Duration in milliseconds after which an exchange is slow. A slow exchange costs only its socket and does not count in
 * {@link MAX_FAST_EXCHANGES}.
 */
export const SLOW_AFTER_MS = 1_000

/** Maximum concurrent exchanges, including slow ones. */
export const MAX_EXCHANGES = 512

/** Maximum concurrent exchanges of one endpoint. An endpoint that fails has one at a time, its probe. */
export const MAX_EXCHANGES_PER_WEBHOOK = 4

/** Maximum concurrent exchanges of one merchant: half of {@link MAX_FAST_EXCHANGES}, and fewer the fuller the process is. */
export const MAX_EXCHANGES_PER_MERCHANT = 32

/** Maximum deliveries of one endpoint that wait in memory. */
export const MAX_WAITING_PER_WEBHOOK = 50

/** Maximum deliveries of one merchant that wait in memory, and fewer the fuller the memory is. */
export const MAX_WAITING_PER_MERCHANT = 150

/** Maximum deliveries that wait in memory, over all merchants. Near this maximum each merchant gets fewer places. */
export const MAX_WAITING = 1_500

/** Maximum number of endpoints of one read. */
export const MAX_ENDPOINTS_PER_READ = 200

/** Maximum number of endpoints that are considered for one read. */
export const MAX_ENDPOINTS_CONSIDERED = 500

/** Maximum number of concurrent reads. */
export const MAX_CONCURRENT_READS = 2

/**
 * Maximum number of an endpoint's deliveries in memory at which more are read. An endpoint with more than these still
 * has enough to send.
 */
export const READ_MORE_AT = 16

/**
 * Maximum concurrent exchanges with one host, over all merchants: a quarter of a process's maximum (`MAX_EXCHANGES`).
 * A host that responds quickly never comes near this limit, for any number of merchants. If the host of a platform
 * hangs, the other hosts have the remaining three quarters.
 */
export const MAX_EXCHANGES_PER_HOST = 128

/**
 * Maximum concurrent exchanges with a host that has not accepted a delivery yet. The number is enough to find out if
 * the host accepts deliveries.
 */
export const MAX_EXCHANGES_PER_UNKNOWN_HOST = 8

/**
 * Maximum requests a minute, possibly all at once, to a host that has not accepted a delivery yet. The limit also
 * applies to test deliveries, to any host. Registration costs nothing: a merchant may register a thousand endpoints at
 * another company's server. That server receives no more than this number of requests. The same limit holds for each
 * merchant in each mode, because a wildcard in the DNS gives a server any number of names.
 */
export const MAX_REQUESTS_PER_MINUTE = 60

/** Maximum number of hosts kept in memory. */
export const MAX_HOSTS = 10_000

/** Maximum number of results that are settled together. */
export const MAX_RESULTS_PER_SETTLEMENT = 100

/** Time for which the first result of a group waits for others, in milliseconds. */
export const SETTLEMENT_DELAY_MS = 15

/**
 * Maximum number of groups of results that are settled at the same time. While one group is written to the disk, the
 * next group is built.
 */
export const MAX_CONCURRENT_SETTLEMENTS = 2

/** Number of unsettled results from which no new exchange begins. */
export const MAX_PENDING_RESULTS = 600

/** Interval between two rounds over the endpoints, in milliseconds. */
export const ROUND_INTERVAL_MS = 500

/** Maximum time that a delivery waits in memory, in milliseconds. Other deliveries may need its place. */
export const MAX_MEMORY_WAIT_MS = 5_000

/** Time that a stop waits for exchanges in progress, in milliseconds; longer than an exchange may take. */
export const STOP_TIMEOUT_MS = 17_000

/**
 * Time for which an endpoint with nothing to send is held, in milliseconds, so that steady traffic needs no new claims.
 */
export const MAX_IDLE_MS = 5_000

/** Interval between two announcements of work while this process holds endpoints, in milliseconds. */
export const ANNOUNCEMENT_INTERVAL_MS = 2_000
