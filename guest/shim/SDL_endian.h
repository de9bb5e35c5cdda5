// SPDX-License-Identifier: GPL-2.0-or-later
// Byte order as the engine's i_swap.h asks for it. Both hosts of the guest are little-endian.
#ifndef SHIM_SDL_ENDIAN_H
#define SHIM_SDL_ENDIAN_H

#define SDL_LIL_ENDIAN 1234
#define SDL_BIG_ENDIAN 4321
#define SDL_BYTEORDER SDL_LIL_ENDIAN
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "WAD data is used in place");

#define SDL_SwapLE16(x) (x)
#define SDL_SwapLE32(x) (x)
#define SDL_SwapBE16(x) __builtin_bswap16(x)
#define SDL_SwapBE32(x) __builtin_bswap32(x)

#endif
