import { withClient } from '../withClient.ts'

/** Name of the replication slot that makes PostgreSQL keep the log until it is in the backup's folder. */
export const BACKUP_SLOT = 'guias_respaldo'

const DROP = 'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1 and not active'

/** Drops the slot that an earlier continuous backup left. Without a reader, the slot would keep the log for ever. */
export async function dropBackupSlot(url: string): Promise<void> {
  await withClient({ connectionString: url, query_timeout: 10_000 }, (client) => client.query(DROP, [BACKUP_SLOT]))
}
