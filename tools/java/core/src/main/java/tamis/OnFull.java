// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** What happens when the newest segment holds as many keys as it was made for. */
public enum OnFull {
  /** Grow; warn for explicit numbers of bits, and for kind counting. */
  DEFAULT,
  /** A further, larger segment takes the new keys. */
  GROW,
  /** A new key is refused with {@link ErrorCode#FULL}; a known key is answered. */
  REFUSE,
  /** Keys are still taken, and the rate gets worse. */
  WARN;

  /** Returns "grow", "refuse" or "warn"; null for {@link #DEFAULT}. */
  public String word() {
    return Native.text(Native.ON_FULL_NAME, ordinal());
  }
}
