import { defineConfig } from 'prisma-cli/config'

/** Configuration of Prisma's CLI (`prisma generate`, `prisma migrate`). The service never reads this file. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost/guias' },
})
