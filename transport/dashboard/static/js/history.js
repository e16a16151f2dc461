// Ring buffers of what the plots show: a fixed number of rows, so that a page that stays open does not grow.

export class History {
  constructor(columns, rows) {
    this.columns = Array.from({ length: columns + 1 }, () => new Float64Array(rows));
    this.rows = rows;
    this.at = 0;
    this.count = 0;
  }

  /** Add a row: time in s, then a value for each column; NaN is a gap. */
  add(...row) {
    row.forEach((value, column) => {
      this.columns[column][this.at] = value;
    });
    this.at = (this.at + 1) % this.rows;
    this.count = Math.min(this.rows, this.count + 1);
  }

  /** Columns in the order of time; NaN becomes null, as the plot wants it. */
  read() {
    const first = (this.at - this.count + this.rows) % this.rows;
    return this.columns.map((column, index) =>
      Array.from({ length: this.count }, (_, row) => {
        const value = column[(first + row) % this.rows];
        return index > 0 && Number.isNaN(value) ? null : value;
      }),
    );
  }

  /** The newest row: time, then values, null for a gap; undefined without one. */
  newest() {
    if (this.count === 0) return undefined;
    const row = (this.at - 1 + this.rows) % this.rows;
    return this.columns.map((column) => (Number.isNaN(column[row]) ? null : column[row]));
  }

  clear() {
    this.count = 0;
    this.at = 0;
  }
}
