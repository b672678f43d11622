import type { Page } from 'playwright-core'

/** Slow 3G: bytes per second, and milliseconds until an answer begins. */
const SLOW_3G = { downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8, latency: 400 }

/**
 * Makes the network of a page slow. Returns the paths that it asks for, the packed bytes of what has arrived, and the
 * bytes that had arrived when the page first asked for a path; undefined if it has not asked.
 */
export async function onSlowNetwork(page: Page) {
  const session = await page.context().newCDPSession(page)
  const requests: { path: string; bytesBefore: number }[] = []
  let bytes = 0
  session.on('Network.requestWillBeSent', ({ request }) =>
    requests.push({ path: new URL(request.url).pathname, bytesBefore: bytes }),
  )
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, ...SLOW_3G })
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  return {
    paths: () => requests.map(({ path }) => path),
    sum: () => bytes,
    bytesBefore: (pattern: RegExp) => requests.find(({ path }) => pattern.test(path))?.bytesBefore,
  }
}
