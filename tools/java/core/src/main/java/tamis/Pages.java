// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** In which pages the memory of a filter is mapped; tamis-pages(1) says what pays when. */
public enum Pages {
  /** Of 2 MiB where they make the disk write a quarter more at most. */
  AUTO,
  /** Of 4 KiB, or what the system has. */
  SMALL,
  /** Of 2 MiB wherever the system gives them. */
  HUGE;

  /** Returns "auto", "small" or "huge". */
  public String word() {
    return Native.text(Native.PAGES_NAME, ordinal());
  }
}
