// Texts of the panels beside the conversation: export, palette, files, usage, inspector, settings.
export default {
  work: {
    moreHits: 'The newest {n}; more words find fewer.',
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
