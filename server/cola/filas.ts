/** A pending row as its job, which says whose it is. */
export const aTrabajo = ({ id, comercio_id }: { id: string; comercio_id: string }) => ({ id, data: { comercio_id } })

/** The row that a job is about. */
export const deTrabajo = ({ id, data }: { id: string; data: object }) => ({ id, ...(data as { comercio_id: string }) })
