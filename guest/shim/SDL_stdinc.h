// SPDX-License-Identifier: GPL-2.0-or-later
// The engine includes this for functions that only its Windows parts call.
