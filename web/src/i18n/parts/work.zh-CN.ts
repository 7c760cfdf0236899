// 对话旁各面板的文字：导出、命令面板、文件、用量、检查器、设置。
export default {
  work: {
    moreHits: '最新的 {n} 条；多输几个词可缩小范围。',
    keys: {
      palette: '按名称查找一切',
      levelUp: '想得更多',
      levelDown: '想得更少',
      files: '改动的文件',
    },
    palette: {
      open: '查找一切',
      title: '命令、对话与模型',
      placeholder: '想做什么？',
      commands: '命令',
      sessions: '对话',
      models: '改用模型',
      nothing: '没有这个名称。',
    },
    export: {
      title: '导出',
      save: '保存',
      answers: '供阅读',
      answersHint: 'Markdown：只有对话，不含思考',
      summaries: '供阅读，附思考概要',
      summariesHint: 'Markdown：每次思考的时长，厂商给出摘要时附上摘要',
      thoughts: '供阅读，附全部思考',
      thoughtsHint: 'Markdown：每段思考都在原处',
      json: '供保存或再次导入',
      jsonHint: 'JSON：除厂商加密内容外的一切',
    },
  },
}
