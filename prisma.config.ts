import { defineConfig } from 'prisma-cli/config'

/** Prisma's own CLI (`prisma generate`, `prisma migrate`); the service never reads this file. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost/guias' },
})
