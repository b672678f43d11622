/**
 * Variables with which `faketime` moves the clock of a process tree (`npm run test:calendar`), and the folder in which
 * Node keeps compiled code: a program that tests start many times then starts in half the time.
 */
const NAMES = ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC', 'NODE_COMPILE_CACHE'] as const

/** Environment of the test for children that inherit nothing else: the same clock and the same compiled code. */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
)

/** Seconds by which `faketime` moves the clock of this run; 0 without it. */
export const CLOCK_OFFSET_S = Number(process.env.FAKETIME ?? 0)
/**
 * False below `faketime`, which shows signal handlers the real time while a process waits: PostgreSQL then never ends a
 * statement that waits too long for a lock.
 */
export const HAS_LOCK_TIMEOUTS = CLOCK_OFFSET_S === 0
