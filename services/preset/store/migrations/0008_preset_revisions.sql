-- With the revision, so that the changes of a workspace are counted without its rows: a preset has as many as its revision says.
ALTER TABLE presets
  DROP KEY presets_updated,
  ADD KEY presets_updated (workspace_id, updated_at DESC, id, revision)
