/** The database that every test file clones: migrated, with its queues. */
export const TEMPLATE_DATABASE = 'plantilla'
