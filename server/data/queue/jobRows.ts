/** Makes the job of a pending row; the job's data names the row's merchant. */
export const aTrabajo = ({ id, comercio_id }: { id: string; comercio_id: string }) => ({ id, data: { comercio_id } })

/** Returns the row that a job is about. */
export const deTrabajo = ({ id, data }: { id: string; data: object }) => ({ id, ...(data as { comercio_id: string }) })
