import { runInRoot } from './run.ts'

/**
 * Generates the Prisma client. `PRISMA_SCHEMA_ENGINE_BINARY` names an arbitrary file that Prisma never runs; without it
 * Prisma would download its schema engine.
 */
export const generatePrisma = () =>
  runInRoot('prisma', ['generate'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  })
