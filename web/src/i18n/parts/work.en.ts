// Texts of the panels beside the conversation: export, palette, files, usage, inspector, settings.
export default {
  work: {
    moreHits: 'The newest {n}; more words find fewer.',
    keys: {
      palette: 'Find anything by name',
      levelUp: 'Think more',
      levelDown: 'Think less',
      files: 'Changed files',
    },
    palette: {
      open: 'Find anything',
      title: 'Commands, conversations and models',
      placeholder: 'What do you want to do?',
      commands: 'Commands',
      sessions: 'Conversations',
      models: 'Answer with',
      nothing: 'Nothing goes by that name.',
    },
    export: {
      title: 'Export',
      save: 'Save',
      answers: 'To read',
      answersHint: 'Markdown: what was said, without thoughts',
      summaries: 'To read, with a line on each thought',
      summariesHint: 'Markdown: how long the model thought, and summaries where the vendor gave them',
      thoughts: 'To read, with all thoughts',
      thoughtsHint: 'Markdown: every thought in its place',
      json: 'To keep or import again',
      jsonHint: 'JSON: everything but what vendors sealed',
    },
  },
}
