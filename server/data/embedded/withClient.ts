import pg from 'pg'

/**
 * Runs `use` with a new connection to the embedded PostgreSQL, and closes the connection.
 * @param config address, and other options of the connection
 */
export async function withClient<T>(config: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...config })
  client.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
