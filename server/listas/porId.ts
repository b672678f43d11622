import type { Posicion } from './cursor.ts'

/** What Prisma is asked for a page of rows whose ids grow, newest first, after a position. */
export const masNuevas = (despues: Posicion | undefined, take: number) => ({
  where: despues ? { id: { lt: String(despues[0]) } } : {},
  orderBy: { id: 'desc' as const },
  take,
})

export const posicionDeId = ({ id }: { id: string }): Posicion => [id]
