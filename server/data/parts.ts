/** Place where a statement runs on Citus: the part that has this merchant's rows, or the part with this number. */
export type Place = { readonly merchant: string } | { readonly part: number }

/** Part of merchants' rows, on the machine that has it now: the rows of all merchants whose ids hash into one range. */
export interface Part {
  /** Number of the part, stored in the table `parte`. No other part ever gets the same number. */
  readonly number: number
  /** Range of the hashes of its merchants' ids, both ends included. */
  readonly from: number
  readonly to: number
  /**
   * Number that grows with each move of the part to another machine. It orders events that were written on different
   * machines.
   */
  readonly era: number
  /** Schema with views of the part's shards, under the tables' own names. */
  readonly schema: string
  /**
   * Id of one shard of the part. While a session holds a lock on this shard, the part cannot move to another machine.
   */
  readonly shard: string
  /** URL of the part's machine. */
  readonly url: string
  /** First character of the codes of guides that are created in the part. */
  readonly letter: string
}

/** Division of merchants' rows among several machines, as this process knows it. */
export interface Placements {
  /** Settings of sessions that query the rows of all merchants. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings of sessions on a part's machine, which override the pool's own settings. */
  readonly machineSettings: Readonly<Record<string, string>>
  parts(): readonly Part[]
  /** Numbers of the parts that may have the guide with this code; empty if the code names no part. */
  named(code: string): readonly number[]
  /**
   * Finds a part, and the machine that has it now.
   * @throws if the machine cannot be reached
   */
  find(place: Place): Promise<Part>
  /** Returns the number of the part that has a merchant's rows. */
  number(merchant: string): Promise<number>
  /**
   * Returns the number of a merchant's part if an earlier call of {@link number} has already found it; else undefined.
   */
  known(merchant: string): number | undefined
  /** Runs `act` in a part. If the part moves meanwhile, runs `act` again on the new machine. */
  follow<T>(place: Place, act: (part: Part) => Promise<T>): Promise<T>
}
