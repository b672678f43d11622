/**
 * Service process of `npm run dev`: runs the sources of `server/` in one API process with its workers. A stop closes
 * the port at once, because no load balancer has to notice the stop first. Sends the message `ready` to its parent when
 * it serves.
 */
import { runProcess } from '../../server/startup/process.ts'

await runProcess(async () => {
  // Imported here, because `runProcess` has enabled Node's compile cache by now.
  const { startService } = await import('../../server/startup/service.ts')
  return (config, log, terminal) => startService(config, log, terminal, { farewellMs: 0 })
})
process.send?.('ready')
