import type { CursorPosition } from './cursor.ts'

/** Returns Prisma's arguments for a page of rows with increasing ids, newest first, after a position. */
export const newestFirst = (after: CursorPosition | undefined, take: number) => ({
  where: after ? { id: { lt: String(after[0]) } } : {},
  orderBy: { id: 'desc' as const },
  take,
})

/** Returns the position of a row in the list of {@link newestFirst}. */
export const positionOfId = ({ id }: { id: string }): CursorPosition => [id]
