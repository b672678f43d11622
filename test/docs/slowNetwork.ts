import type { Page } from 'playwright-core'

/** Slow 3G: bytes per second, and milliseconds until an answer begins. */
const SLOW_3G = { downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8, latency: 400 }

/** Makes the network of a page slow. Returns the paths that it asks for, and the packed bytes that have arrived. */
export async function onSlowNetwork(page: Page) {
  const session = await page.context().newCDPSession(page)
  const paths: string[] = []
  let bytes = 0
  session.on('Network.requestWillBeSent', ({ request }) => paths.push(new URL(request.url).pathname))
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, ...SLOW_3G })
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  return { paths: () => paths, sum: () => bytes }
}
