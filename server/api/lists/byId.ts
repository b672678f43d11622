import type { CursorPosition } from './cursor.ts'

/** Returns Prisma's arguments for a page of rows with increasing ids, newest first, after a position. */
export const newestFirst = (despues: CursorPosition | undefined, take: number) => ({
  where: despues ? { id: { lt: String(despues[0]) } } : {},
  orderBy: { id: 'desc' as const },
  take,
})

/** Returns the position of a row in the list of {@link newestFirst}. */
export const positionOfId = ({ id }: { id: string }): CursorPosition => [id]
