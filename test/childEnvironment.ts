/**
 * Variables with which `faketime` moves the clock of a process tree (`npm run test:calendar`), and the folder in which
 * Node keeps compiled code: a program that tests start many times then starts in half the time.
 */
const NAMES = ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC', 'NODE_COMPILE_CACHE'] as const

/** Environment of the test for children that inherit nothing else: the same clock and the same compiled code. */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
)
