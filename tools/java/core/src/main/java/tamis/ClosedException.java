// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** A store, a filter or another handle is used after its close. */
public class ClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  ClosedException(String what) {
    super("the " + what + " is closed");
  }
}
