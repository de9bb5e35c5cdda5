// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's sound interface (i_sound.h) for a machine without a sound card: the game runs as
// with -nosound. Settings are kept in the configuration all the same.
#include <stddef.h>

#include "i_sound.h"
#include "m_config.h"

int snd_sfxdevice = SNDDEVICE_SB;
int snd_musicdevice = SNDDEVICE_SB;
int snd_pitchshift = -1; // the engine chooses

void I_InitSound(boolean use_sfx_prefix)
{
    (void)use_sfx_prefix;
}

void I_ShutdownSound(void)
{
}

int I_GetSfxLumpNum(sfxinfo_t *sound)
{
    (void)sound;
    return 0;
}

void I_PrecacheSounds(sfxinfo_t *sounds, int count)
{
    (void)sounds;
    (void)count;
}

void I_UpdateSound(void)
{
}

void I_UpdateSoundParams(int channel, int volume, int separation)
{
    (void)channel;
    (void)volume;
    (void)separation;
}

int I_StartSound(sfxinfo_t *sound, int channel, int volume, int separation, int pitch)
{
    (void)sound;
    (void)channel;
    (void)volume;
    (void)separation;
    (void)pitch;
    return 0;
}

void I_StopSound(int channel)
{
    (void)channel;
}

boolean I_SoundIsPlaying(int channel)
{
    (void)channel;
    return false;
}

void I_InitMusic(void)
{
}

void I_ShutdownMusic(void)
{
}

void I_SetMusicVolume(int volume)
{
    (void)volume;
}

void I_PauseSong(void)
{
}

void I_ResumeSong(void)
{
}

void *I_RegisterSong(void *data, int length)
{
    (void)data;
    (void)length;
    return NULL;
}

void I_UnRegisterSong(void *song)
{
    (void)song;
}

void I_PlaySong(void *song, boolean looping)
{
    (void)song;
    (void)looping;
}

void I_StopSong(void)
{
}

boolean I_MusicIsPlaying(void)
{
    return false;
}

void I_SetOPLDriverVer(opl_driver_ver_t version)
{
    (void)version;
}

void I_OPL_DevMessages(char *text, size_t size)
{
    if (size > 0) {
        text[0] = '\0';
    }
}

void I_BindSoundVariables(void)
{
    M_BindIntVariable("snd_musicdevice", &snd_musicdevice);
    M_BindIntVariable("snd_sfxdevice", &snd_sfxdevice);
    M_BindIntVariable("snd_pitchshift", &snd_pitchshift);
}
