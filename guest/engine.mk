# SPDX-License-Identifier: MIT
# Builds the guest and its native twin from the patched engine. guest/build-guest runs this in a
# folder that holds engine/ (patched), include/, the file flags, and platform, a link to this folder.

# The engine's own files, those that ask nothing of SDL (i_system, m_argv, m_config are satisfied by
# the headers in shim/). Replaced by ours: i_main, i_endoom, i_input, i_joystick, i_sound and its
# drivers, i_timer, i_video, net_gui, and of the OPL library its drivers.
COMMON := aes_prng d_event d_iwad d_loop d_mode deh_io deh_main deh_mapping deh_str deh_text i_glob \
    i_oplmusic i_system m_argv m_bbox m_cheat m_config m_controls m_fixed m_misc memio midifile mus2mid net_client net_common \
    net_dedicated net_io net_loop net_packet net_petname net_query net_sdl net_server net_structrw sha1 tables \
    v_diskicon v_video w_checksum w_file w_file_posix w_file_stdc w_main w_merge w_wad z_zone
DOOM := $(filter-out doom_icon,$(patsubst engine/src/doom/%.c,%,$(wildcard engine/src/doom/*.c)))
OPL := opl opl3 opl_queue
PLATFORM := audio clock device effects fingerprints input main opl_driver sound video whole_file

# -fno-strict-aliasing: the engine reads lumps through whatever type fits. -fwrapv: its fixed-point
# numbers wrap. -ffp-contract=off: aarch64 would otherwise fuse what the twin rounds twice.
CFLAGS := -O2 -std=gnu11 -fno-strict-aliasing -fwrapv -ffp-contract=off -DDISABLE_SDL2NET \
    -Iinclude -Iplatform -Iplatform/shim -Iengine/src -Iengine/src/doom -Iengine/opl
# By default Debian's compilers make code that may lie anywhere: it loads the address of each variable from a table. The
# twin's linker takes these loads out again, that of aarch64 does not.
# X22 to X28, which functions keep for their callers, but translated ones do not pass each other (GLUE_PASSED in
# core/engine/translate/glue.h), are left alone: gcc has 29 registers here, 15 for the twin, and what is in these seven is
# stored and loaded at calls once more.
# X29 points to no frame records, which gcc makes for aarch64 by default, but not for the twin, and is left alone as well.
CFLAGS_aarch64 := -fno-pie -fomit-frame-pointer -ffixed-x29 -ffixed-x22 -ffixed-x23 -ffixed-x24 -ffixed-x25 -ffixed-x26 -ffixed-x27 -ffixed-x28

.DELETE_ON_ERROR:
all: doom.aarch64 doom.native

# $(1) program suffix, $(2) compiler
define PROGRAM
OBJ_$(1) := $(COMMON:%=$(1)/engine-%.o) $(DOOM:%=$(1)/doom-%.o) $(OPL:%=$(1)/opl-%.o) \
    $(PLATFORM:%=$(1)/platform-%.o)

doom.$(1): $$(OBJ_$(1))
	$(2) -O2 -static -o $$@ $$^ -lm

$(1)/engine-%.o: engine/src/%.c flags | $(1)
	$(2) $(CFLAGS) $(CFLAGS_$(1)) -w -MMD -MP -c -o $$@ $$<

$(1)/doom-%.o: engine/src/doom/%.c flags | $(1)
	$(2) $(CFLAGS) $(CFLAGS_$(1)) -w -MMD -MP -c -o $$@ $$<

$(1)/opl-%.o: engine/opl/%.c flags | $(1)
	$(2) $(CFLAGS) $(CFLAGS_$(1)) -w -MMD -MP -c -o $$@ $$<

$(1)/platform-%.o: platform/%.c flags | $(1)
	$(2) $(CFLAGS) $(CFLAGS_$(1)) -Wall -Wextra -MMD -MP -c -o $$@ $$<

$(1):
	mkdir -p $$@

-include $$(OBJ_$(1):.o=.d)
endef

AARCH64_CC ?= aarch64-linux-gnu-gcc
NATIVE_CC ?= gcc
$(eval $(call PROGRAM,aarch64,$(AARCH64_CC)))
$(eval $(call PROGRAM,native,$(NATIVE_CC)))
