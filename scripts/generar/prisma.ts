import { correr } from './correr.ts'

/** `prisma generate` would download its schema engine unless some file is named in its place; it never runs it. */
export const generarPrisma = () =>
  correr('prisma', ['generate'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  })
