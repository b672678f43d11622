/** A place of merchants' rows: where one's lie, or one part of all of them. */
export type Place = { readonly merchant: string } | { readonly part: number }

/** One part of merchants' rows, and where it lies now. */
export interface Part {
  /** Stored, and never given to others' rows. */
  readonly number: number
  /** The hashes of its merchants' ids, both ends included. */
  readonly from: number
  readonly to: number
  /** How often it came to another machine. */
  readonly era: number
  /** The schema where its rows are seen under the tables' own names. */
  readonly schema: string
  /** By it a session holds the part where it is. */
  readonly shard: string
  /** Of the machine. */
  readonly url: string
  /** The first character of the codes of guides that are created in it. */
  readonly letter: string
}

/** What a process knows of where merchants' rows lie, where one machine doesn't have them all. */
export interface Placements {
  /** Settings of sessions that ask about everybody's rows. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings of sessions on the machine of a part, whatever others like them have. */
  readonly machineSettings: Readonly<Record<string, string>>
  parts(): readonly Part[]
  /** Numbers of the parts where the guide of such a code may lie. */
  named(code: string): readonly number[]
  find(place: Place): Promise<Part>
  /** The number of a merchant's part. */
  number(merchant: string): Promise<number>
  /** {@link number}, once it was asked for. */
  known(merchant: string): number | undefined
  /** Does something in a part; again, where it lies then, if it moves meanwhile. */
  follow<T>(place: Place, act: (part: Part) => Promise<T>): Promise<T>
}
