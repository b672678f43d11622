/** Variables with which `faketime` moves the clock of a process tree (`npm run test:calendar`). */
const NAMES = ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC'] as const

/** Environment for children that inherit nothing else, so that their clock is that of the test. Empty without `faketime`. */
export const CLOCK_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
)
