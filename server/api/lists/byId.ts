import type { Posicion } from './cursor.ts'

/** Returns Prisma's arguments for a page of rows with increasing ids, newest first, after a position. */
export const masNuevas = (despues: Posicion | undefined, take: number) => ({
  where: despues ? { id: { lt: String(despues[0]) } } : {},
  orderBy: { id: 'desc' as const },
  take,
})

/** Returns the position of a row in the list of {@link masNuevas}. */
export const posicionDeId = ({ id }: { id: string }): Posicion => [id]
