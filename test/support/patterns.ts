/** The format of ids and times, wherever they are shown. */
export const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const userId = /^user_[A-Za-z0-9]{24,}$/;
export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A charset may be named, but JSON has only one. */
export const jsonType = /^application\/json(; charset=utf-8)?$/;
